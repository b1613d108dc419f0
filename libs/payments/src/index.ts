export { type PaymentsConfig, paymentsConfig, paymentsConfigOf } from './payments.config.js';
export { PaymentsApiModule } from './payments-api.module.js';
export { PaymentsClientModule, paymentsClientConfig } from './payments-client.module.js';
export { PaymentsModule } from './payments.module.js';
export { evmRail } from './rails/evm-rail.js';
export type { RailKind } from './rails/rail-kind.js';
export { RAILS } from './rails/rails.js';
