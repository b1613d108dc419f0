-- The endpoints of the operator belong to no account.
ALTER TABLE "gateway"."webhook_endpoints" ALTER COLUMN "account_id" DROP NOT NULL;

-- The states of which somebody was last notified.
CREATE TABLE "gateway"."notices" (
    "subject" TEXT NOT NULL,
    "state" TEXT NOT NULL,

    CONSTRAINT "notices_pkey" PRIMARY KEY ("subject")
);
