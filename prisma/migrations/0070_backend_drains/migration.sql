-- Backends that operators have taken out of service. A backend without a row is in service, as is one whose time is over.
CREATE TABLE "gateway"."backend_drains" (
    "model" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "until" TIMESTAMPTZ(3),

    CONSTRAINT "backend_drains_pkey" PRIMARY KEY ("model", "name"),
    CONSTRAINT "backend_drains_state_check" CHECK ("state" IN ('draining', 'off'))
);
