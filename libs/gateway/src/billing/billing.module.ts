import { Module } from '@nestjs/common';
import { BillingAnalyticsController } from './billing-analytics.controller.js';
import { BillingRequestsController } from './billing-requests.controller.js';
import { BillingUsageController } from './billing-usage.controller.js';
import { BillingController } from './billing.controller.js';
import { BillingUsersController } from './billing-users.controller.js';
import { UsageNames } from './usage-names.js';
import { WalletsController } from './wallets.controller.js';

/** What an account has and what it used. */
@Module({
  controllers: [
    BillingAnalyticsController,
    BillingController,
    BillingRequestsController,
    BillingUsageController,
    BillingUsersController,
    WalletsController,
  ],
  providers: [UsageNames],
})
export class BillingModule {}
