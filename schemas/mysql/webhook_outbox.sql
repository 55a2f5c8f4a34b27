-- An outbox table that says where to send each event (MySQL).
CREATE TABLE webhook_outbox (
    id              bigint AUTO_INCREMENT PRIMARY KEY,
    aggregate_id    varchar(255) NOT NULL,
    event_type      varchar(255) NOT NULL,
    idempotency_key varchar(255) NOT NULL UNIQUE,
    target_url      varchar(1000),
    payload         longtext NOT NULL,
    status          varchar(20) NOT NULL DEFAULT 'PENDING',
    retry_count     decimal(3) NOT NULL DEFAULT 0,
    max_retries     decimal(3) DEFAULT 5,
    next_retry_at   datetime(6),
    last_error      text,
    created_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at      datetime(6)
) CHARACTER SET utf8mb4;
