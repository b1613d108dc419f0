-- Of an event whose trace is recorded, the step that noted it, as W3C Trace Context writes it.
ALTER TABLE "events"."outbox" ADD COLUMN "traceparent" TEXT;
