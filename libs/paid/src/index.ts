export { gatewayConfig, GatewaySettings, privateHosts } from './gateway.config.js';
export { identityConfig, IdentitySettings } from './identity.config.js';
export { IdentityModule } from './identity.module.js';
export { PaidModule } from './paid.module.js';
