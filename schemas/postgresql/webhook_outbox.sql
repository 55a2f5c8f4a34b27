-- An outbox table that says where to send each event (PostgreSQL).
CREATE TABLE webhook_outbox (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    aggregate_id    varchar(255) NOT NULL,            -- the record's key: order is kept per value
    event_type      varchar(255) NOT NULL,
    idempotency_key varchar(255) NOT NULL UNIQUE,
    target_url      varchar(1000),                    -- only hosts in delivery.event_urls are called
    payload         text NOT NULL,
    status          varchar(20) NOT NULL DEFAULT 'PENDING',
    retry_count     numeric(3) NOT NULL DEFAULT 0,
    max_retries     numeric(3) DEFAULT 5,             -- requests in total
    next_retry_at   timestamp,
    last_error      text,
    created_at      timestamp NOT NULL DEFAULT now(),
    updated_at      timestamp
);
