/// The style of a report: for wide and narrow windows, dark mode and paper. It refers to no other file.
enum ReportStyle {
    static let css = """
        :root{color-scheme:light dark;--back:#fff;--text:#1c2024;--soft:#565d66;--line:#d5d9de;--panel:#f5f6f8;--link:#0b57b0;\
        --old:#a3231a;--new:#12692f;--oldback:#fdf0ee;--newback:#eef8f0;--bar:#3b6fb3}
        @media (prefers-color-scheme:dark){:root{--back:#15181c;--text:#e7eaee;--soft:#a9b1bb;--line:#3a414a;--panel:#1e2329;\
        --link:#8ab8f5;--old:#ff9d92;--new:#7fd79a;--oldback:#2c1b1b;--newback:#172820;--bar:#7aa7e0}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
        header,main,footer,nav{max-width:72rem;margin:0 auto;padding:0 1.25rem}
        header{padding-top:2rem}footer{padding-top:2rem;padding-bottom:2rem;color:var(--soft)}
        h1{font-size:1.7rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.3rem;margin:2.5rem 0 .75rem;padding-bottom:.3rem;\
        border-bottom:2px solid var(--line)}h3{font-size:1.05rem;margin:1.75rem 0 .25rem}
        p{margin:.4rem 0}ul{margin:.4rem 0;padding-left:1.5rem}.note code{white-space:nowrap}\
        a{color:var(--link)}code{font:.9em ui-monospace,monospace}
        nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:1rem 0 0;padding:0}
        .soft{color:var(--soft)}.note{border-left:4px solid var(--bar);background:var(--panel);padding:.6rem .9rem;margin:1rem 0}
        .bad{border-left-color:var(--old)}
        dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0}
        dl.facts div{background:var(--panel);border:1px solid var(--line);border-radius:.4rem;padding:.6rem .8rem}
        dt{color:var(--soft);font-size:.875rem}dd{margin:0}dl.facts dd{font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums}
        dl.proof{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1rem}
        dl.proof dd{overflow-wrap:anywhere}
        table{border-collapse:collapse;width:100%;margin:.75rem 0;font-size:.9375rem}
        caption{text-align:left;color:var(--soft);padding:.25rem 0}
        th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid var(--line)}
        thead th{color:var(--soft);font-weight:600;border-bottom:2px solid var(--line)}
        tbody th{font-weight:500}td time,thead th{white-space:nowrap}
        .g{background:var(--panel);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
        .changes{table-layout:fixed}.changes th:first-child{width:34%}
        .changes td{white-space:pre-wrap}
        .o{color:var(--old);background:var(--oldback)}.w{color:var(--new);background:var(--newback)}
        .o::before{content:"\\2212\\00a0"}.w::before{content:"+\\00a0"}
        .k{display:inline-block;font-size:.8125rem;border:1px solid var(--line);border-radius:.3rem;padding:0 .35rem;color:var(--soft)}
        .wide{overflow-x:auto;border:1px solid var(--line);border-radius:.4rem;padding:.5rem}.wide:focus{outline:3px solid var(--link)}
        svg{display:block}svg text{fill:var(--text);font:13px system-ui,sans-serif}svg .s{fill:var(--soft)}
        .bar{fill:var(--bar)}.box{fill:var(--panel);stroke:var(--soft)}.gone{stroke-dasharray:4 3}
        .edge{fill:none;stroke:var(--soft);stroke-width:1.5}
        .axis{stroke:var(--line)}.chart{width:100%;max-width:52rem;height:auto;min-width:34rem}
        @media (max-width:64rem){td time{white-space:normal}}td[data-l=Actor]{overflow-wrap:anywhere}
        @media (max-width:40rem){body{font-size:15px}header,main,footer,nav{padding-left:.8rem;padding-right:.8rem}
        dl.proof{display:block}dl.proof dd{margin:0 0 .5rem}
        .stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
        .stack,.stack tbody,.stack tr,.stack th,.stack td{display:block;width:auto}
        .changes th:first-child{width:auto}.stack caption{display:block}
        .stack th,.stack td{border:0;padding:.1rem .4rem}.stack tr{border-bottom:1px solid var(--line);padding:.4rem 0}
        .stack td:empty{display:none}.stack .n{text-align:left}.stack [data-l]::before{content:attr(data-l) ": ";color:var(--soft)}}
        @media print{:root{--back:#fff;--text:#000;--soft:#444;--line:#bbb;--panel:#fff;--link:#000;--old:#8a1c14;--new:#0d5526;\
        --oldback:#fff;--newback:#fff;--bar:#555}body{font-size:9pt;line-height:1.35}header,main,footer{padding-left:0;padding-right:0}\
        nav{display:none}h2{margin-top:1.5rem}h3{margin-top:1rem}h2,h3,caption{break-after:avoid}tr{break-inside:avoid}\
        table{font-size:8.5pt;margin:.4rem 0}th,td{padding:.1rem .4rem}td time{white-space:normal}\
        thead{display:table-header-group}
        .wide{overflow:visible;border:0}.wide svg{max-width:100%;min-width:0;height:auto}a{text-decoration:none}}
        """
}
