import { parseCents } from '@berth/kernel';
import { isPair, isScalar, isSeq, visit, type Document } from 'yaml';
import type { Fault } from './fault.js';

/** A decimal as it is written; reading it as a number may have rounded it. */
const DECIMAL = /^[-+]?\d*\.\d+$/;

/** Numbers that are written with more decimals than money has. Nothing else in the file has decimals. */
export const longDecimals = (document: Document): readonly Fault[] => {
  const faults: Fault[] = [];
  visit(document, {
    Scalar: (_key, { source, value }, ancestors) => {
      const digits = typeof value === 'number' && DECIMAL.test(source ?? '') ? source : undefined;
      if (digits === undefined || parseCents(digits.replace(/^[-+]?\./, '0.').replace('+', '')) !== undefined)
        return;
      faults.push({ path: pathOf(ancestors), what: 'must have at most 6 decimals' });
    },
  });
  return faults;
};

const pathOf = (ancestors: readonly unknown[]): Fault['path'] =>
  ancestors.flatMap<string | number>((node, index) => {
    if (isPair(node)) return [String(isScalar(node.key) ? node.key.value : node.key)];
    if (!isSeq(node)) return [];
    const position = node.items.indexOf(ancestors[index + 1]);
    return position < 0 ? [] : [position];
  });
