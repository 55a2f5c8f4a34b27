-- The table of Debezium's outbox event router (MySQL). JSON columns are
-- rewritten by the server: a text column keeps the bytes.
CREATE TABLE outboxevent (
    id            char(36) PRIMARY KEY,
    aggregatetype varchar(255) NOT NULL,
    aggregateid   varchar(255) NOT NULL,
    type          varchar(255) NOT NULL,
    payload       longtext
) CHARACTER SET utf8mb4;
