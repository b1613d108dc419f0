export { gatewayConfig, GatewaySettings, privateHosts } from './gateway.config.js';
export { PaidModule } from './paid.module.js';
