export { type RouterConfig, routerConfig } from './router.config.js';
export { RouterModule } from './router.module.js';
export { type RouterSettings } from './local-router.js';
