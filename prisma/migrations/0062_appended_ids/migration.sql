-- Like `append`, and returns the first and the last of the ids that the events got. Processes of an earlier version go on
-- calling the others.
CREATE FUNCTION "events"."append_numbered"("topics" TEXT[], "keys" TEXT[], "payloads" TEXT[], "traceparents" TEXT[])
RETURNS TABLE ("first_id" BIGINT, "last_id" BIGINT)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('events.log', 0));
    RETURN QUERY
    WITH "stored" AS (
        INSERT INTO "events"."log" ("topic", "key", "payload", "traceparent")
        SELECT "event"."topic", "event"."key", "event"."payload", nullif("event"."traceparent", '')
        FROM unnest("topics", "keys", "payloads", "traceparents")
            WITH ORDINALITY AS "event" ("topic", "key", "payload", "traceparent", "position")
        ORDER BY "event"."position"
        RETURNING "id"
    )
    SELECT min("id"), max("id") FROM "stored";
END;
$$;
