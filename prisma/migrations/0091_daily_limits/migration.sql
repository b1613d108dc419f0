-- Limits for a UTC day, of keys and of end users.
ALTER TABLE "gateway"."api_keys"
    ADD COLUMN "requests_per_day" INTEGER,
    ADD COLUMN "tokens_per_day" INTEGER,
    ADD CONSTRAINT "api_keys_requests_per_day_check" CHECK ("requests_per_day" > 0),
    ADD CONSTRAINT "api_keys_tokens_per_day_check" CHECK ("tokens_per_day" > 0);

ALTER TABLE "gateway"."end_user_limits"
    ADD COLUMN "requests_per_day" INTEGER,
    ADD COLUMN "tokens_per_day" INTEGER,
    ADD CONSTRAINT "end_user_limits_requests_per_day_check" CHECK ("requests_per_day" > 0),
    ADD CONSTRAINT "end_user_limits_tokens_per_day_check" CHECK ("tokens_per_day" > 0);
