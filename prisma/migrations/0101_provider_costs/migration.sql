-- What a hosted provider takes for the units of a line, of a model that is sold at its price with a markup.
ALTER TABLE "ledger"."charge_lines" ADD COLUMN "provider_nano" BIGINT;
