export {
  parseTemplate,
  TemplateError,
  type ContainerOptions,
  type Template,
  type TemplateEnvVar,
} from './template.js';
export { readTemplates } from './read-templates.js';
