export {
  type RouterClientConfig,
  type RouterConfig,
  type RouterSettings,
  routerClientConfig,
  routerConfig,
} from './router.config.js';
export { DIALECTS } from './dialects/dialects.js';
export { HttpRouter, type HttpRouterSettings } from './api/http-router.js';
export { RouterApiModule } from './router-api.module.js';
export { RouterClientModule } from './router-client.module.js';
export { RouterModule } from './router.module.js';
