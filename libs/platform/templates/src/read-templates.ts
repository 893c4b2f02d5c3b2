import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseTemplate, TemplateError, type Template } from './template.js';

/**
 * Returns every template in the given folders, sorted by id. If two have the same id, the one in the earlier folder
 * wins: an operator's folder can add to the shipped templates but not replace one. Ignores files and dot folders.
 * Throws `TemplateError` for a folder that cannot be read or a template that is invalid.
 */
export const readTemplates = async (dirs: readonly string[]): Promise<readonly Template[]> => {
  const found = new Map<string, Template>();
  for (const dir of dirs) {
    for (const template of await readFolder(resolve(dir))) {
      if (!found.has(template.id)) found.set(template.id, template);
    }
  }
  return [...found.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1));
};

const readFolder = async (dir: string): Promise<readonly Template[]> => {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
    throw new TemplateError(`The templates folder ${dir} cannot be read: ${reason(error)}`);
  });
  const folders = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith('.'));
  return Promise.all(folders.map((entry) => readTemplate(join(dir, entry.name), entry.name)));
};

const readTemplate = async (folder: string, name: string): Promise<Template> => {
  const file = join(folder, 'template.json');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new TemplateError(`${file} cannot be read: ${reason(error)}`);
  });
  return parseTemplate(text, folder, name);
};

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
