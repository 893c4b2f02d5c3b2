/** Every registered route by its pattern, so that a wrong method can be told from an unknown path. */
export class RouteTable {
  private readonly patterns = new Map<string, { readonly matches: RegExp; readonly methods: Set<string> }>();

  add(pattern: string, methods: string | readonly string[]): void {
    const known = this.patterns.get(pattern) ?? { matches: toRegExp(pattern), methods: new Set<string>() };
    for (const method of typeof methods === 'string' ? [methods] : methods) known.methods.add(method);
    this.patterns.set(pattern, known);
  }

  /** The methods that `path` (no query) answers, in alphabetical order; none for an unknown path. */
  methodsOf(path: string): readonly string[] {
    const methods = new Set<string>();
    for (const route of this.patterns.values()) {
      if (route.matches.test(path)) for (const method of route.methods) methods.add(method);
    }
    return [...methods].sort();
  }
}

const toRegExp = (pattern: string): RegExp => {
  const segments = pattern.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
};
