CREATE SCHEMA "gateway";

CREATE TABLE "gateway"."accounts" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "tier" TEXT NOT NULL,
    "paid" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "accounts_tier_check" CHECK ("tier" IN ('standard', 'partner'))
);

CREATE TABLE "gateway"."api_keys" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "secret_sha256" BYTEA NOT NULL,
    "last6" TEXT NOT NULL,
    "api_key_type" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(6),
    "last_used_at" TIMESTAMPTZ(6),
    "revoked_at" TIMESTAMPTZ(6),
    "consumption_limit_usd_nano" BIGINT,
    "consumption_limit_diem_nano" BIGINT,
    "limit_period" TEXT NOT NULL DEFAULT 'EPOCH',
    "model_privacy" TEXT NOT NULL DEFAULT 'ALL',

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "api_keys_secret_sha256_check" CHECK (octet_length("secret_sha256") = 32),
    CONSTRAINT "api_keys_api_key_type_check" CHECK ("api_key_type" IN ('INFERENCE', 'ADMIN')),
    CONSTRAINT "api_keys_consumption_limit_usd_nano_check" CHECK ("consumption_limit_usd_nano" >= 0),
    CONSTRAINT "api_keys_consumption_limit_diem_nano_check" CHECK ("consumption_limit_diem_nano" >= 0),
    CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id")
        REFERENCES "gateway"."accounts" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

CREATE UNIQUE INDEX "api_keys_secret_sha256_key" ON "gateway"."api_keys" ("secret_sha256");
CREATE INDEX "api_keys_account_id_idx" ON "gateway"."api_keys" ("account_id");

CREATE SCHEMA "events";

CREATE TABLE "events"."log" (
    "id" BIGSERIAL NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "log_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "log_topic_id_idx" ON "events"."log" ("topic", "id");

CREATE TABLE "events"."offsets" (
    "group" TEXT NOT NULL,
    "topic" TEXT NOT NULL,
    "last_id" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "offsets_pkey" PRIMARY KEY ("group", "topic")
);

-- A consumer reads on from the highest id it has seen, so a lower id must never become visible after a higher one.
-- The lock makes writers take turns from the first id to the commit; it is released after the rows are visible.
CREATE FUNCTION "events"."append"("topics" TEXT[], "keys" TEXT[], "payloads" TEXT[]) RETURNS VOID
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('events.log', 0));
    INSERT INTO "events"."log" ("topic", "key", "payload")
    SELECT "event"."topic", "event"."key", "event"."payload"
    FROM unnest("topics", "keys", "payloads") WITH ORDINALITY AS "event" ("topic", "key", "payload", "position")
    ORDER BY "event"."position";
END;
$$;
