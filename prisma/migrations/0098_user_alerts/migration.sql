-- What end users spend is notified too.
ALTER TABLE "ledger"."alerts"
    ADD COLUMN "end_user" TEXT,
    DROP CONSTRAINT "alerts_type_check",
    ADD CONSTRAINT "alerts_type_check" CHECK ("type" IN ('balance.low', 'key.spend_threshold', 'end_user.spend_threshold'));
