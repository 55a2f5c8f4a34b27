-- The table of Debezium's outbox event router (Oracle). The connector needs
-- lob.enabled=true for the CLOB, or else a VARCHAR2(4000) payload.
CREATE TABLE outboxevent (
    id            VARCHAR2(36) PRIMARY KEY,
    aggregatetype VARCHAR2(255) NOT NULL,
    aggregateid   VARCHAR2(255) NOT NULL,
    type          VARCHAR2(255) NOT NULL,
    payload       CLOB
);
