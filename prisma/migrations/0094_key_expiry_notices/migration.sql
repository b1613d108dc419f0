-- The expiry of a key of which its account was notified.
ALTER TABLE "gateway"."api_keys" ADD COLUMN "notified_expiry" TIMESTAMPTZ(6);

CREATE INDEX "api_keys_expires_at_idx" ON "gateway"."api_keys" ("expires_at");
