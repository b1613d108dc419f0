-- The models that requests fall back to if they name none; those of a key replace those of its account.
ALTER TABLE "gateway"."accounts"
    ADD COLUMN "fallback_models" TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN "fallback_on" TEXT[] NOT NULL DEFAULT '{}';

ALTER TABLE "gateway"."api_keys"
    ADD COLUMN "fallback_models" TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN "fallback_on" TEXT[] NOT NULL DEFAULT '{}';
