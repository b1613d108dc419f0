export { DevelopmentAccount, type FirstAccount } from './operator/development-account.js';
export { GatewaySettings, gatewayConfig, privateHosts } from './gateway.config.js';
export { GatewayModule } from './gateway.module.js';
