import type { TemplateView } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { readTemplates, type Template } from '@berth/templates';

/** The templates of this installation, read once when the service starts. */
export class TemplateCatalogue {
  private constructor(private readonly templates: readonly Template[]) {}

  /** Throws `TemplateError` with the name of the invalid file. */
  static async read(folders: readonly string[]): Promise<TemplateCatalogue> {
    return new TemplateCatalogue(await readTemplates(folders));
  }

  /** Errors: invalid `unknown_template`. */
  get(templateId: string): Template {
    const template = this.templates.find((known) => known.id === templateId);
    if (template === undefined) {
      throw new DomainError(
        'invalid',
        'unknown_template',
        'There is no such template; GET /api/templates lists them.',
        { templateId },
      );
    }
    return template;
  }

  /** The ids of the templates whose agents have no program of their own. */
  withoutProgram(): readonly string[] {
    return this.templates.filter(({ program }) => program === null).map(({ id }) => id);
  }

  views(): readonly TemplateView[] {
    return this.templates.map(({ id, name, description, deprecated, resources, capabilities, env }) => ({
      id,
      name,
      description,
      deprecated,
      resources,
      capabilities,
      env,
    }));
  }
}
