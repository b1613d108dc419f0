export {
  ANALYTICS_DAYS,
  ANALYTICS_TOP,
  BillingAnalytics,
  BillingAnalyticsQuery,
  BillingBalance,
  BillingEntry,
  BillingUsage,
  BillingUsageHistory,
  BillingUsageHistoryQuery,
  BillingUsageQuery,
} from './billing.js';
