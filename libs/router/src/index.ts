export {
  type RouterClientConfig,
  type RouterConfig,
  routerClientConfig,
  routerConfig,
} from './router.config.js';
export { HttpRouter, type HttpRouterSettings } from './api/http-router.js';
export { RouterApiModule } from './router-api.module.js';
export { RouterClientModule } from './router-client.module.js';
export { RouterModule } from './router.module.js';
export { type RouterSettings } from './backend-calls.js';
