export { fileRoutes } from './files.routes.js';
export { VolumeFiles } from './volume-files.js';
