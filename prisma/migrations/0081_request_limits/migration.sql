-- The most that one request of a key may cost, in whole nano-dollars.
ALTER TABLE "gateway"."api_keys"
    ADD COLUMN "request_limit_nano" NUMERIC(20, 0),
    ADD CONSTRAINT "api_keys_request_limit_nano_check" CHECK ("request_limit_nano" > 0);
