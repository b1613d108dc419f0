-- The spending limits of a key and of an end user may be for an hour.
ALTER TABLE "gateway"."api_keys"
    DROP CONSTRAINT "api_keys_limit_period_check",
    ADD CONSTRAINT "api_keys_limit_period_check" CHECK ("limit_period" IN ('HOUR', 'EPOCH', 'WEEK', 'MONTH', 'LIFETIME'));
ALTER TABLE "gateway"."end_user_limits"
    DROP CONSTRAINT "end_user_limits_limit_period_check",
    ADD CONSTRAINT "end_user_limits_limit_period_check" CHECK ("limit_period" IN ('HOUR', 'EPOCH', 'WEEK', 'MONTH', 'LIFETIME'));
