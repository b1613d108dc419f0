export { identityConfig, IdentitySettings } from './identity.config.js';
export { IdentityModule } from './identity.module.js';
