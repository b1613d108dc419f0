export { gatewayConfig, GatewaySettings, hostsIn, linksIn, privateHosts } from './gateway.config.js';
export { PaidModule } from './paid.module.js';
