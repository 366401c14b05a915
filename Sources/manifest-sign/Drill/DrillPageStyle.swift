/// How the report looks: on a phone, on a wide screen, in the dark, on paper.
enum DrillPageStyle {
  static let text = """
    :root {
      color-scheme: light dark;
      --text: #1c1c1e; --faint: #5a5a60; --back: #ffffff; --raised: #f4f4f6; --line: #d5d5da;
      --good: #17692f; --bad: #b3121d; --bad-back: #fdecec;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --text: #ececf0; --faint: #a5a5ad; --back: #16161a; --raised: #212127; --line: #3a3a42;
        --good: #6fd58c; --bad: #ff8a8a; --bad-back: #3a1a1d;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
    main { max-width: 80rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
    h1 { font-size: 1.6rem; margin: 0.5rem 0; }
    h2 { font-size: 1.3rem; margin: 2.5rem 0 0; line-height: 1.3; }
    h3 { font-size: 1.1rem; margin: 1.75rem 0 0.25rem; line-height: 1.3; }
    .replay { margin-top: 0.75rem; color: var(--faint); }
    p { margin: 0.25rem 0 0.75rem; }
    code { font: 0.875em ui-monospace, monospace; color: var(--faint); }
    a { color: inherit; }
    .verdict { font-size: 1.1rem; padding: 0.75rem; border: 2px solid; border-radius: 0.5rem; }
    .verdict.passed { border-color: var(--good); }
    .verdict.failed { border-color: var(--bad); background: var(--bad-back); }
    .passed .mark, .state.passed { color: var(--good); }
    .failed .mark, .state.failed { color: var(--bad); }
    .not-run .mark { color: var(--faint); }
    .mark { white-space: nowrap; }
    .state { font-size: 0.8rem; font-weight: 600; border: 1px solid; border-radius: 1rem; padding: 0.05rem 0.5rem; white-space: nowrap; }
    .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.5rem; margin: 0; }
    .facts div { background: var(--raised); border-radius: 0.5rem; padding: 0.5rem 0.75rem; }
    .facts div:first-child { grid-column: span 2; }
    dt { font-size: 0.8rem; color: var(--faint); }
    dd { margin: 0; font-variant-numeric: tabular-nums; }
    table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
    th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.5rem; border-top: 1px solid var(--line); }
    th { font-size: 0.75rem; color: var(--faint); font-weight: 600; }
    th:nth-child(1) { width: 6.5rem; } th:nth-child(2) { width: 13%; } th:nth-child(3) { width: 17%; }
    th:nth-child(4) { width: 23%; } th:nth-child(5) { width: 25%; } th:nth-child(6) { width: 15%; }
    table { table-layout: fixed; }
    tr.failed { background: var(--bad-back); }
    @media screen and (max-width: 60rem) {
      thead { display: none; }
      table, tbody { display: block; }
      tr { display: block; background: var(--raised); border-radius: 0.5rem; padding: 0.5rem 0.75rem; margin: 0.5rem 0; }
      tr.failed { border-left: 4px solid var(--bad); }
      td { display: grid; grid-template-columns: 6.5rem 1fr; gap: 0.5rem; border: 0; padding: 0.15rem 0; }
      td:first-child { display: block; }
      td:first-child::before { display: none; }
      td::before { content: attr(data-label); color: var(--faint); font-size: 0.8rem; line-height: 1.6; }
    }
    @media print {
      @page { size: A4 landscape; margin: 12mm; }
      :root { --text: #000; --faint: #444; --back: #fff; --raised: #fff; --line: #999; --good: #000; --bad: #000; --bad-back: #fff; }
      body { font-size: 9pt; }
      main { max-width: none; padding: 0; }
      table { font-size: 8pt; }
      th:nth-child(1) { width: 19mm; }
      thead { display: table-header-group; }
      tr, h2, h3 { break-inside: avoid; }
      h2, h3, h3 + p { break-after: avoid; }
      tr.failed td { border: 1.5pt solid #000; }
    }
    """
}
