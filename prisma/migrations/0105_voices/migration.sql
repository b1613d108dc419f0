-- Samples of voices, with which models speak in these voices.
CREATE TABLE "gateway"."voices" (
    "id" TEXT NOT NULL,
    "account_id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "sample" BYTEA NOT NULL,
    "text" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "voices_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "voices_account_id_expires_at_idx" ON "gateway"."voices" ("account_id", "expires_at");

CREATE INDEX "voices_expires_at_idx" ON "gateway"."voices" ("expires_at");
