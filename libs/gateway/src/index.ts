export { DevelopmentAccount, type FirstAccount } from '@svc/identity/accounts';
export { GatewaySettings, gatewayConfig, privateHosts } from '@svc/paid';
export { DrainsModule } from './drains/drains.module.js';
export { SignIns } from './console/sign-ins.js';
export { GatewayModule } from './gateway.module.js';
export { LastGoodStore } from './actions/last-good.store.js';
