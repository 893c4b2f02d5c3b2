import type { BoxSource } from '../../box-spec.js';

/** The reference of the image that a box runs in. */
export const imageOfSource = (source: BoxSource, otherwise: string): string => {
  if (source.kind === 'image') return source.reference;
  return source.kind === 'template' ? (source.image ?? otherwise) : otherwise;
};
