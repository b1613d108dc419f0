export { DevelopmentAccount, type FirstAccount } from './accounts/development-account.js';
export { GatewaySettings, gatewayConfig, privateHosts } from './gateway.config.js';
export { GatewayModule } from './gateway.module.js';
export { LastGoodStore } from './operator/last-good.store.js';
