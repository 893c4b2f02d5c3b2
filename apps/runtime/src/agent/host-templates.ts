import { readTemplates, type Template } from '@berth/templates';

/** The templates on this host, read once when the service starts. */
export class HostTemplates {
  private constructor(private readonly byId: ReadonlyMap<string, Template>) {}

  /** Throws `TemplateError` with the name of the invalid file. */
  static async read(folders: readonly string[]): Promise<HostTemplates> {
    const templates = await readTemplates(folders);
    return new HostTemplates(new Map(templates.map((template) => [template.id, template])));
  }

  get(templateId: string): Template | undefined {
    return this.byId.get(templateId);
  }
}
