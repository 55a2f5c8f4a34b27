-- An outbox table that says where to send each event (Oracle). The connector
-- needs lob.enabled=true: with the default a small CLOB arrives as NULL.
CREATE TABLE webhook_outbox (
    id              NUMBER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    aggregate_id    VARCHAR2(255) NOT NULL,
    event_type      VARCHAR2(255) NOT NULL,
    idempotency_key VARCHAR2(255) NOT NULL UNIQUE,
    target_url      VARCHAR2(1000),
    payload         CLOB NOT NULL,
    status          VARCHAR2(20) DEFAULT 'PENDING' NOT NULL,
    retry_count     NUMBER(3) DEFAULT 0 NOT NULL,
    max_retries     NUMBER(3) DEFAULT 5,
    next_retry_at   TIMESTAMP,
    last_error      VARCHAR2(4000),
    created_at      TIMESTAMP DEFAULT SYSTIMESTAMP NOT NULL,
    updated_at      TIMESTAMP
);
