/* SPDX-License-Identifier: Apache-2.0
 * early.js: runs before the first paint, so that no other theme flashes; and asks for what would else
 * come after the frame: the tool that the URL names, and what it asks the daemon first.
 * Its own file: a script of the page, not a module, run before all others; scripts/embed-pages puts it into the page.
 * */
(() => {
  const PARTS = {}; // {tool: address}, filled in by scripts/embed-pages
  const params = new URLSearchParams(location.search);
  const tool = params.get('tool');
  const session = params.get('session');
  const href = PARTS[tool];
  if (href) document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));

  /* As lib/selection.js and the tools ask it, below api/v1/; api.js hands the answers on. Loaded again, a page asks all
   * that it asked then. */
  const order = location.search === '' ? 'failed' : 'newest';
  const first = [
    'about',
    tool === 'home' ? 'sessions?sort=failed&limit=1000&offset=0' : `sessions?sort=${order}&limit=100`,
  ];
  if (tool === 'home') first.push('live');
  /* Without one in the URL most pages of programs show the newest that has some. */
  const id = encodeURIComponent(session || 'newest');
  const module = params.get('module');
  const isPlain = !params.get('host') && !params.get('rules') && !params.get('capacity');
  const hasPrograms = isPlain && (session || !module) && ['memory_viewer', 'modules'].includes(tool);
  if (hasPrograms && (!session || tool === 'memory_viewer')) first.push(`sessions/${id}`);
  if (hasPrograms && tool === 'memory_viewer')
    first.push(
      `sessions/${id}/modules?sort=-total&limit=100`,
      `memory_viewer/summary?session=${id}${module ? `&module=${encodeURIComponent(module)}` : ''}`,
    );
  if (hasPrograms && tool === 'modules') first.push(`modules/summary?session=${id}&within_ms=250`);
  if (session) {
    if (tool === 'memory_profile') first.push(`memory_profile/summary?session=${id}`);
    if (tool === 'oom' && !params.get('file')) first.push(`oom?session=${id}`);
    if (tool === 'device_memory') first.push(`sessions/${id}/profiles`, `device_memory/summary?session=${id}`);
  }
  const asked = history.state?.asked ?? first;
  const stored = (name) => {
    try {
      return localStorage.getItem(`memviewd.${name}`);
    } catch {
      return null; // nothing is stored
    }
  };
  const isWithToken = location.hash.length > 1; // the daemon answers only once it has the token
  if (!isWithToken && stored('ask') !== 'alone') {
    const query = asked.map((path) => `ask=${encodeURIComponent(path)}`).join('&');
    const response = fetch(`api/v1/batch?${query}`, { headers: { Accept: 'application/json' } });
    response.catch(() => {}); // who asks for it hears of it
    globalThis.memviewdAhead = { asked, response };
  }

  const theme = stored('theme'); // else the system decides
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-theme', isDark ? 'dark' : 'light');
})();
