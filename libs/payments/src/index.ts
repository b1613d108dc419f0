export { type PaymentsConfig, paymentsConfig } from './payments.config.js';
export { PaymentsApiModule } from './payments-api.module.js';
export { PaymentsClientModule, paymentsClientConfig } from './payments-client.module.js';
export { PaymentsModule } from './payments.module.js';
