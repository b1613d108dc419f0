export { gatewayConfig, GatewaySettings, privateHosts } from './gateway.config.js';
