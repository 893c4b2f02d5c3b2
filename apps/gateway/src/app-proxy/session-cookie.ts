const NAME = 'berth_app';
const SECURE_NAME = `__Host-${NAME}`;

/** The names of the cookie that stands for an end user's token, without TLS and with it. */
export const SESSION_COOKIES: readonly string[] = [NAME, SECURE_NAME];

/** The values of our cookie in a `Cookie` header; another app of the same site may have added one. */
export const sessionsIn = (cookie: string | undefined, scheme: 'http' | 'https'): readonly string[] => {
  const wanted = scheme === 'https' ? SECURE_NAME : NAME;
  return (cookie ?? '').split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=');
    return name.trim() === wanted ? [value.join('=').trim()] : [];
  });
};

/** A `Cookie` header without ours; empty if nothing else is in it. */
export const withoutSession = (cookie: string): string => {
  const pairs = cookie.split(';');
  const others = pairs.filter((pair) => !SESSION_COOKIES.includes(pair.split('=', 1)[0]?.trim() ?? ''));
  return others.length === pairs.length ? cookie : others.join(';').trim();
};

/** The `Set-Cookie` header of a session, which lasts until the browser closes and no longer than its token. */
export const setCookieOf = (value: string, scheme: 'http' | 'https'): string => {
  const [name, secure] = scheme === 'https' ? [SECURE_NAME, '; Secure'] : [NAME, ''];
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`;
};
