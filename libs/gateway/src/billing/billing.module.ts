import { Module } from '@nestjs/common';
import { BillingAnalyticsController } from './billing-analytics.controller.js';
import { BillingUsageController } from './billing-usage.controller.js';
import { BillingController } from './billing.controller.js';
import { WalletsController } from './wallets.controller.js';

/** What an account has and what it used. */
@Module({
  controllers: [BillingAnalyticsController, BillingController, BillingUsageController, WalletsController],
})
export class BillingModule {}
