-- What a key may be used for; an empty list restricts nothing. A rotated key keeps its row: the earlier secret works until a time.
ALTER TABLE "gateway"."api_keys"
    ADD COLUMN "allowed_models" TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN "allowed_endpoints" TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN "allowed_ips" TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN "can_infer" BOOLEAN NOT NULL DEFAULT true,
    ADD COLUMN "is_disabled" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "earlier_secret_sha256" BYTEA,
    ADD COLUMN "earlier_secret_until" TIMESTAMPTZ(3),
    ADD CONSTRAINT "api_keys_earlier_secret_check"
        CHECK ("earlier_secret_sha256" IS NULL OR octet_length("earlier_secret_sha256") = 32);

CREATE UNIQUE INDEX "api_keys_earlier_secret_sha256_key" ON "gateway"."api_keys" ("earlier_secret_sha256");
