export { DevelopmentAccount, type FirstAccount } from './operator/development-account.js';
export { type GatewayConfig, GatewaySettings, gatewayConfig } from './gateway.config.js';
export { GatewayModule } from './gateway.module.js';
