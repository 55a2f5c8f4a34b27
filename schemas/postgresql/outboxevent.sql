-- The table of Debezium's outbox event router (PostgreSQL).
CREATE TABLE outboxevent (
    id            uuid PRIMARY KEY,           -- becomes the Idempotency-Key
    aggregatetype varchar(255) NOT NULL,      -- becomes the topic: outbox.event.<aggregatetype>
    aggregateid   varchar(255) NOT NULL,      -- the record's key: order is kept per value
    type          varchar(255) NOT NULL,      -- place it in a header: type:header:eventType
    payload       text                        -- the body, byte for byte (jsonb would be rewritten by PostgreSQL)
);
