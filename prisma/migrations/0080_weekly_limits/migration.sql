-- The spending limits of a key may be for a week.
ALTER TABLE "gateway"."api_keys"
    DROP CONSTRAINT "api_keys_limit_period_check",
    ADD CONSTRAINT "api_keys_limit_period_check" CHECK ("limit_period" IN ('EPOCH', 'WEEK', 'MONTH', 'LIFETIME'));
