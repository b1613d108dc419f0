-- Sessions of the console in browsers. Only a hash of the secret in the cookie is stored. Deleted when they have ended.
CREATE TABLE "gateway"."console_sessions" (
    "token_sha256" BYTEA NOT NULL,
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "key_id" UUID,
    "wallet" TEXT,
    "network" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "proven_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "console_sessions_pkey" PRIMARY KEY ("token_sha256")
);

CREATE UNIQUE INDEX "console_sessions_id_key" ON "gateway"."console_sessions" ("id");
CREATE INDEX "console_sessions_account_id_idx" ON "gateway"."console_sessions" ("account_id");
CREATE INDEX "console_sessions_expires_at_idx" ON "gateway"."console_sessions" ("expires_at");

ALTER TABLE "gateway"."console_sessions" ADD CONSTRAINT "console_sessions_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "gateway"."accounts" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE "gateway"."console_sessions" ADD CONSTRAINT "console_sessions_key_id_fkey"
    FOREIGN KEY ("key_id") REFERENCES "gateway"."api_keys" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Secrets that sign someone in to the console once: the nonces of sign-in messages, and links.
CREATE TABLE "gateway"."console_tickets" (
    "secret_sha256" BYTEA NOT NULL,
    "subject" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "console_tickets_pkey" PRIMARY KEY ("secret_sha256")
);

CREATE INDEX "console_tickets_expires_at_idx" ON "gateway"."console_tickets" ("expires_at");
