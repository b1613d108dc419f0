-- The order in which operators page through the keys of all accounts.
CREATE INDEX "api_keys_created_at_id_idx" ON "gateway"."api_keys" ("created_at", "id");
