-- Where an account is notified of the end of one job, at one of its webhook endpoints.
ALTER TABLE "media"."jobs" ADD COLUMN "callback_url" TEXT;

-- In place of the URL of the endpoint, whose secret signs.
ALTER TABLE "gateway"."webhook_deliveries" ADD COLUMN "url" TEXT;
