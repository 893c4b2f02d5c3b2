import { Injectable } from '@nestjs/common';
import type { RouteRules } from './fastify-types.js';

/** A registered route. */
export interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  /** Undefined only where a route lacks its declaration. */
  readonly rules: RouteRules | undefined;
}

interface Pattern {
  readonly matches: RegExp;
  readonly rulesOf: Map<string, RouteRules | undefined>;
}

/** Every registered route by its pattern, so that a wrong method is distinguished from an unknown path. */
@Injectable()
export class RouteTable {
  readonly #patterns = new Map<string, Pattern>();

  add(path: string, methods: string | readonly string[], rules?: RouteRules): void {
    const known = this.#patterns.get(path) ?? { matches: toRegExp(path), rulesOf: new Map() };
    for (const method of [methods].flat()) known.rulesOf.set(method, rules);
    this.#patterns.set(path, known);
  }

  /** The methods that `path` (without query) has, in alphabetical order; none for an unknown path. */
  methodsOf(path: string): readonly string[] {
    const methods = new Set<string>();
    for (const { matches, rulesOf } of this.#patterns.values()) {
      if (matches.test(path)) for (const method of rulesOf.keys()) methods.add(method);
    }
    return [...methods].sort();
  }

  /** The rules of the routes that `path` (without query) may lead to with `method`. */
  rulesOf(path: string, method: string): readonly (RouteRules | undefined)[] {
    return [...this.#patterns.values()]
      .filter(({ matches, rulesOf }) => rulesOf.has(method) && matches.test(path))
      .map(({ rulesOf }) => rulesOf.get(method));
  }

  /** Every route, without the `HEAD` that comes with each `GET`. */
  all(): readonly DeclaredRoute[] {
    return [...this.#patterns].flatMap(([path, { rulesOf }]) =>
      [...rulesOf]
        .filter(([method]) => method !== 'HEAD')
        .map(([method, rules]) => ({ method, path, rules })),
    );
  }
}

const toRegExp = (pattern: string): RegExp => {
  const segments = pattern.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
};
