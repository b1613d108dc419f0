-- Of an event whose trace is recorded, the step that published it, as W3C Trace Context writes it.
ALTER TABLE "events"."log" ADD COLUMN "traceparent" TEXT;

-- Processes of an earlier version go on calling the one with three parameters. A shorter list is filled up with NULL.
CREATE FUNCTION "events"."append"("topics" TEXT[], "keys" TEXT[], "payloads" TEXT[], "traceparents" TEXT[]) RETURNS VOID
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('events.log', 0));
    INSERT INTO "events"."log" ("topic", "key", "payload", "traceparent")
    SELECT "event"."topic", "event"."key", "event"."payload", nullif("event"."traceparent", '')
    FROM unnest("topics", "keys", "payloads", "traceparents")
        WITH ORDINALITY AS "event" ("topic", "key", "payload", "traceparent", "position")
    ORDER BY "event"."position";
END;
$$;
